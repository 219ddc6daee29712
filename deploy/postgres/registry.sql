-- The schema registry's own database; Vigil's is made by the image.
create database apicurio;

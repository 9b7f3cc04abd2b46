# Fixed by https://github.com/kubernetes/autoscaler/pull/9546, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-8855
Feature: A ProvisioningRequest gets its conditions, though no object of a CRD can be sent as protobuf

  @externalgrpc-8855-protobuf
  Scenario: Kueue asks for the capacity of a Job, and the flag for the content type is left as it is
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type  | min | max |
      | best | large | 0   | 1   |
    And these objects from the file "provisioning-requests.yaml"
    And Kueue v0.17.1
    And these objects from the file "queues.yaml"
    And Cluster Autoscaler with the flags:
      | --enable-provisioning-requests | true |
    When these objects are created:
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: first, namespace: default, labels: {kueue.x-k8s.io/queue-name: jobs}}
      spec:
        template:
          metadata: {annotations: {nodestorm.sim/run-for: 1h}}
          spec:
            restartPolicy: Never
            containers: [{name: main, image: main, resources: {requests: {cpu: 3}}}]
      """
    Then "node" has recorded "running" of "pods" 1 times within 10m
